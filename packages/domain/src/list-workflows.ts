import type {
  ListRequest,
  ListResponse,
  Workflow,
} from '@windlass/proto/windlass/catalog/v1/catalog'

/** A list of all workflows, not in pages. */
export const ALL_WORKFLOWS: ListRequest = {
  ...{ namespace: '', names_only: false, limit: 0, after_namespace: '', after_name: '' },
}

/** Small, because each workflow may declare 256 KiB. */
const PAGE = 50

/**
 * Reads the latest version of each workflow with what it declares, page by page: together they may be more
 * than a process or a message holds. A catalog of an earlier release answers all of them in one page.
 */
export async function* readWorkflows(
  list: (request: ListRequest) => Promise<ListResponse>,
): AsyncGenerator<Workflow> {
  let [after_namespace, after_name] = ['', '']
  for (;;) {
    const { workflows } = await list({ ...ALL_WORKFLOWS, limit: PAGE, after_namespace, after_name })
    yield* workflows
    const last = workflows.at(-1)
    if (!last || workflows.length !== PAGE) return
    if (last.namespace === after_namespace && last.name === after_name) return
    ;[after_namespace, after_name] = [last.namespace, last.name]
  }
}
