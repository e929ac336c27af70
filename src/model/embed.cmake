# The model files, for built_in_models.cpp.
foreach(model rtx4090 rtx5080 l40s h200)
  gpusonde_embed(TARGET gpusonde_model SYMBOL model_${model} FILE ${PROJECT_SOURCE_DIR}/models/${model}.toml)
endforeach()
