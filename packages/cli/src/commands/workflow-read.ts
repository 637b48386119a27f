import { PathSegment, path, toNamespace, toWorkflowName } from '@windlass/api-client/path'
import { createApiCall, serverOptions } from '../api-call.ts'
import { type Command, UsageError } from '../command.ts'
import { parseWorkflowRef } from '../input.ts'
import { printMessage } from '../output.ts'
import { readCommand } from './read-command.ts'

const pathOf = (workflow = ''): string => {
  const { namespace, name } = parseWorkflowRef(workflow)
  return path`/workflows/${toNamespace(namespace)}/${toWorkflowName(name)}`
}

const toVersion = (text: string) => PathSegment.parse('version', /^[1-9]\d{0,8}$/, text)

export const namespaceList = readCommand({
  words: 'namespace list',
  args: [],
  about: 'List the namespaces with the number of their workflows',
  pathOf: () => path`/namespaces`,
  table: { columns: ['namespace', 'workflow_count'] },
})

export const workflowShow = readCommand({
  words: 'workflow show',
  args: ['workflow', 'version?'],
  about:
    'Show a workflow with its metadata and its source in base64, by default the latest version',
  pathOf: ([workflow, version]) =>
    version === undefined
      ? pathOf(workflow)
      : `${pathOf(workflow)}${path`/versions/${toVersion(version)}`}`,
})

export const workflowVersions = readCommand({
  words: 'workflow versions',
  args: ['workflow'],
  about: 'List the versions of a workflow, newest first',
  pathOf: ([workflow]) => `${pathOf(workflow)}/versions`,
  table: { columns: ['version', 'name', 'id'] },
})

export const workflowDelete: Command = {
  words: 'workflow delete',
  args: ['workflow'],
  about: 'Delete a version of a workflow, or with --all every version',
  options: {
    version: { type: 'string', value: 'N', about: 'delete this version' },
    all: { type: 'boolean', about: 'delete all versions' },
    ...serverOptions,
  },
  async run(parsed, context) {
    const { version, all } = parsed.options
    const target = pathOf(parsed.args[0])
    if ((version === undefined) === (all === undefined))
      throw new UsageError('name either --version N or --all')
    if (version !== undefined) toVersion(String(version))
    const query = { version: version?.toString() }
    const request = { method: 'DELETE', path: target, query } as const
    printMessage(context, await createApiCall(parsed, context)(request))
    return 0
  },
}
