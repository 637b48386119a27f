from windlass \
 import workflow
@workflow \
  . with_options(
    name=("a"
          "b"),
)
async \
 def job(ctx): ...
