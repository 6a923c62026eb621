/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of the interface that Canopy does not have. Programs include headers that declare them; using such a name is an
 * compile error, with the sentence declared for the name as its message. Parameters are not checked.
 * tools/apigen passes these names over, and `canopy doctor` finds them by the three macros.
 */
#ifndef CANOPY_INCLUDE_ACL_CANOPY_UNAVAILABLE_H
#define CANOPY_INCLUDE_ACL_CANOPY_UNAVAILABLE_H

#ifndef __has_attribute
#define CANOPY_UNAVAILABLE(sentence)
#elif __has_attribute(unavailable)
#define CANOPY_UNAVAILABLE(sentence) __attribute__((unavailable(sentence)))
#else /* gcc before 12 */
#define CANOPY_UNAVAILABLE(sentence) __attribute__((deprecated(sentence)))
#endif

#ifdef __cplusplus
#define CANOPY_NO_FUNCTION(result, name, sentence) result name(...) CANOPY_UNAVAILABLE(sentence)
#else
#define CANOPY_NO_FUNCTION(result, name, sentence) result name(int, ...) CANOPY_UNAVAILABLE(sentence)
#endif
#define CANOPY_NO_TYPE(name, sentence) typedef struct name name CANOPY_UNAVAILABLE(sentence)
#define CANOPY_NO_CONSTANT(name, sentence) enum { name CANOPY_UNAVAILABLE(sentence) }

#endif /* CANOPY_INCLUDE_ACL_CANOPY_UNAVAILABLE_H */
