# SPDX-License-Identifier: Apache-2.0
# CPack runs this when the tree has been installed into its working folder. It adds what the package has outside of
# /opt/canopy, and finds out which libraries of the system it depends on.
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

# The C and C++ libraries, in the versions that the programs were linked with. CPack can do so too, but runs two programs
# for each file of the tree to tell programs from others.
find_program(dpkg_shlibdeps dpkg-shlibdeps)
if(NOT dpkg_shlibdeps)
  message(FATAL_ERROR "dpkg-shlibdeps is missing, which finds the libraries that a package needs: run scripts/setup.sh package")
endif()
set(tree ${root}/opt/canopy)
file(GLOB programs ${tree}/bin/canopy ${tree}/bin/canopy-cc ${tree}/bin/canopy-graph ${tree}/lib64/*.so
     ${tree}/lib64/aicpu_kernels/*.so ${tree}/python/site-packages/acl/*.so)
foreach(program ${programs})
  if(IS_SYMLINK ${program})
    list(REMOVE_ITEM programs ${program})
  endif()
endforeach()
set(work ${root}.dependencies)
file(WRITE ${work}/debian/control "Source: canopy\n\nPackage: canopy\nArchitecture: any\n")
execute_process(COMMAND ${dpkg_shlibdeps} --ignore-missing-info -l${tree}/lib64 -O ${programs} WORKING_DIRECTORY ${work}
                OUTPUT_VARIABLE found ERROR_VARIABLE messages RESULT_VARIABLE status)
if(NOT status EQUAL 0 OR NOT found MATCHES "shlibs:Depends=([^\n]+)")
  message(FATAL_ERROR "dpkg-shlibdeps failed: ${messages}")
endif()
string(APPEND CPACK_DEBIAN_PACKAGE_DEPENDS ", ${CMAKE_MATCH_1}")
