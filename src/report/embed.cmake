# What the HTML report carries inside: its style, its script, and d3. Without d3 the page shows the
# static figures and says so.
set(d3 ${GPUSONDE_D3})
if(NOT d3)
  set(d3 ${PROJECT_BINARY_DIR}/embedded/no_d3.js)
  file(WRITE ${d3} "")
endif()
gpusonde_embed(TARGET gpusonde_report SYMBOL report_d3 FILE ${d3})
gpusonde_embed(TARGET gpusonde_report SYMBOL report_frame_script FILE ${PROJECT_SOURCE_DIR}/src/report/page_frame.js)
gpusonde_embed(TARGET gpusonde_report SYMBOL report_sweep_script FILE ${PROJECT_SOURCE_DIR}/src/report/page_sweep.js)
gpusonde_embed(TARGET gpusonde_report SYMBOL report_script FILE ${PROJECT_SOURCE_DIR}/src/report/page.js)
gpusonde_embed(TARGET gpusonde_report SYMBOL report_style FILE ${PROJECT_SOURCE_DIR}/src/report/page.css)
