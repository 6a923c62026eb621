# SPDX-License-Identifier: Apache-2.0
# CPack runs this when the tree has been installed into its working folder: adds what the package has outside of
# /opt/canopy.
foreach(tool dpkg-shlibdeps file)
  find_program(found_${tool} ${tool})
  if(NOT found_${tool})
    message(FATAL_ERROR "${tool} is missing, which finds out what the package depends on: run scripts/setup.sh package")
  endif()
endforeach()

set(root ${CPACK_TEMPORARY_DIRECTORY})
set(source ${CPACK_CANOPY_SOURCE}/packaging/debian)

file(MAKE_DIRECTORY ${root}/usr/bin)
foreach(command canopy canopy-cc canopy-graph canopy-runtimes)
  file(CREATE_LINK /opt/canopy/bin/${command} ${root}/usr/bin/${command} SYMBOLIC)
endforeach()

set(documents ${root}/usr/share/doc/canopy)
file(COPY ${source}/copyright DESTINATION ${documents})
execute_process(COMMAND gzip -9n --stdout ${source}/changelog OUTPUT_FILE ${documents}/changelog.gz
                COMMAND_ERROR_IS_FATAL ANY)
file(MAKE_DIRECTORY ${root}/usr/share/lintian/overrides)
configure_file(${source}/lintian-overrides ${root}/usr/share/lintian/overrides/canopy COPYONLY)
