// SPDX-License-Identifier: Apache-2.0
// What npu-smi prints. Scripts cut these texts at fixed columns and split them at "|" and ":", so blanks count.
#pragma once

#include <string>
#include <vector>

#include "chips.h"

namespace npu_smi {

// npu-smi info
std::string table(const std::vector<Chip>& chips, const Sensors& sensors);
// npu-smi info -l, info -m
std::string list(const std::vector<Chip>& chips);
std::string map(const std::vector<Chip>& chips);
// npu-smi info -t <topic> -i <chip>; false: there is no such topic. `one_chip`: -c was given.
bool topic(const std::string& name, const std::vector<Chip>& chips, const Chip& chip, bool one_chip,
           const Sensors& sensors, std::string& text);
// npu-smi info watch: the columns chosen by letters of "ptaicmbu".
std::string watch_header(const std::string& columns);
std::string watch_line(const std::string& columns, const Chip& chip, const Sensors& sensors);

}  // namespace npu_smi
