import { PathSegment, path, toNamespace, toWorkflowName } from '@windlass/api-client/path'
import { UsageError } from '../command.ts'
import { parseWorkflowRef } from '../input.ts'
import { printMessage } from '../output.ts'
import { readCommand } from './read-command.ts'
import { sendCommand } from './send-command.ts'

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

export const workflowDelete = sendCommand({
  words: 'workflow delete',
  args: ['workflow'],
  about: 'Delete a version of a workflow, or with --all every version',
  options: {
    version: { type: 'string', value: 'N', about: 'delete this version' },
    all: { type: 'boolean', about: 'delete all versions' },
  },
  requestOf({ args: [workflow], options: { version, all } }) {
    const target = pathOf(workflow)
    if ((version === undefined) === (all === undefined))
      throw new UsageError('name either --version N or --all')
    if (version !== undefined) toVersion(String(version))
    return { method: 'DELETE', path: target, query: { version: version?.toString() } }
  },
  print: (answer, _, context) => printMessage(context, answer),
})
