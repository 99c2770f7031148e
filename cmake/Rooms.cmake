# Files of a room, or of a folder of tests, are compiled several at a time: most of the time goes into the headers that they share.
option(KW_UNITY "compile several files at a time" ON)
# For work on one room: -DKW_SPLIT_ROOMS="playbook;cli" compiles the files of these one by one.
set(KW_SPLIT_ROOMS "" CACHE STRING "rooms whose files are compiled one by one")

function(kw_compile_together target)
  if(KW_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE BATCH UNITY_BUILD_BATCH_SIZE 12)
    # A file that is included looks like a header to GCC, which then warns of types that no other file can see.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

# Rooms whose own loops take time. The others wait for processes, files and people: they are built with -O1, a quarter faster.
set(KW_BUSY_ROOMS machine runner verify measure strategy search vgpu)

# kw_room(name [rooms and libraries it uses...]): a static library of every .cpp in src/<name>.
function(kw_room name)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cpp)
  add_library(kw_${name} STATIC ${sources})
  if(NOT name IN_LIST KW_SPLIT_ROOMS)
    kw_compile_together(kw_${name})
  endif()
  if(NOT name IN_LIST KW_BUSY_ROOMS)
    target_compile_options(kw_${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
  target_include_directories(kw_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  foreach(used ${ARGN})
    if(TARGET kw_${used})
      target_link_libraries(kw_${name} PUBLIC kw_${used})
    else()
      target_link_libraries(kw_${name} PUBLIC ${used})
    endif()
  endforeach()
endfunction()
