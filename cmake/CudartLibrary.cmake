# kw_cudart_library(): the room cudart as a shared library, libkw_cudart.so, that CUDA programs are linked with instead of NVIDIA's
# runtime. It shows the runtime's functions and nothing else of ours, so that a program may have any other version of our libraries.
function(kw_cudart_library)
  set_target_properties(kw_base kw_record kw_vgpu kw_cudart PROPERTIES POSITION_INDEPENDENT_CODE ON)
  file(WRITE ${CMAKE_BINARY_DIR}/generated/cudart_library.cpp "// The library is what it links.\n")
  add_library(kw_cudart_library SHARED ${CMAKE_BINARY_DIR}/generated/cudart_library.cpp)
  set_target_properties(kw_cudart_library PROPERTIES OUTPUT_NAME kw_cudart LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
  set(exports ${CMAKE_SOURCE_DIR}/src/cudart/exports.map)
  set_target_properties(kw_cudart_library PROPERTIES LINK_DEPENDS ${exports})
  target_link_options(kw_cudart_library PRIVATE -Wl,--version-script=${exports} -Wl,--as-needed -Wl,-z,relro -Wl,-z,now)
  target_link_libraries(kw_cudart_library PRIVATE -Wl,--whole-archive kw_cudart -Wl,--no-whole-archive)
endfunction()
