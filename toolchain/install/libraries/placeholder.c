/* SPDX-License-Identifier: Apache-2.0 */
/* The one object of archives that exist for their name: an archive without objects is refused by some linkers. */
extern const char canopy_placeholder;
const char canopy_placeholder = 0;
