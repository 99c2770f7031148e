# Suites that ctest runs. Each writes its cases to results/NAME.xml, in JUnit's form; tools/test-results counts them.
set(KW_TEST_RESULTS ${CMAKE_BINARY_DIR}/results)
file(MAKE_DIRECTORY ${KW_TEST_RESULTS})

# kw_gtest_suite(name program cost VARIABLE=VALUE...): an executable of GoogleTest, or a shard of one. What costs most is started first.
function(kw_gtest_suite name program cost)
  add_test(NAME ${name} COMMAND ${program} --gtest_output=xml:${KW_TEST_RESULTS}/${name}.xml)
  set_tests_properties(${name} PROPERTIES ENVIRONMENT "${ARGN}" TIMEOUT 900 COST ${cost})
endfunction()

# kw_pytest_suite(name cost files...): tests marked slow go into a second suite, NAME.slow. A suite where nothing is of the kind
# that is asked for ends with pytest's status 5.
function(kw_pytest_suite name cost)
  set(pytest ${CMAKE_SOURCE_DIR}/.venv/bin/python -m pytest -q -p no:cacheprovider -o "markers=slow: takes minutes")
  foreach(kind "not slow" "slow")
    set(suite ${name})
    if(kind STREQUAL "slow")
      set(suite ${name}.slow)
    endif()
    add_test(NAME ${suite} COMMAND ${pytest} -m "${kind}" --junitxml=${KW_TEST_RESULTS}/${suite}.xml ${ARGN} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    set_tests_properties(${suite} PROPERTIES ENVIRONMENT "KW_BIN=$<TARGET_FILE:kernelwright>;KW_TEST_CACHE=${KW_TEST_RESULTS}/cache;PYTHONPATH=oracle"
                                             FIXTURES_REQUIRED measured_machine SKIP_RETURN_CODE 5 TIMEOUT 2400 COST ${cost} LABELS python)
  endforeach()
  set_tests_properties(${name}.slow PROPERTIES LABELS "python;slow" TIMEOUT 7200)
endfunction()
