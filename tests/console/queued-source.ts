/** Source of a workflow that no worker can run: its executions stay in the queue. */
export const queuedSource = (
  name: string,
): string => `from windlass import ExecutionContext, workflow


@workflow.with_options(name="${name}", affinity={"zone": "nowhere"})
async def ${name}(ctx: ExecutionContext):
    return ctx.input
`
