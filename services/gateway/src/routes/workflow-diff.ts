import type { DiffResponse } from '@windlass/proto/windlass/catalog/v1/catalog'
import { z } from 'zod'
import type { Clients } from '../clients/connect.ts'
import { JsonText } from '../domain/views.ts'
import { versionParam } from '../route/fields.ts'
import { route } from '../route/route.ts'

type Deps = Pick<Clients, 'catalog'>

const Compatibility = z.enum(['compatible', 'incompatible', 'unknown'])
const schema = z.record(z.string(), z.unknown()).nullable()

const WorkflowDiff = z
  .object({
    namespace: z.string(),
    name: z.string(),
    from_version: z.int(),
    to_version: z.int(),
    /** `requests`, `affinity`, `imports` and members of the metadata; null if it is not declared. */
    declared: z.array(z.object({ member: z.string(), from: z.unknown(), to: z.unknown() })),
    input_schema: z.object({
      from: schema,
      to: schema,
      changed: z.boolean(),
      /** Result of the proof that the second version accepts every input of the first. */
      compatibility: Compatibility,
      /** The same for inputs that have only members which the first version names. */
      compatibility_of_named_members: Compatibility,
      /** Places where the proof failed, with the reason. */
      problems: z.array(
        z.object({ loc: z.array(z.union([z.string(), z.int()])), msg: z.string() }),
      ),
      /** An input that the first version accepts and the second refuses. */
      example: z.object({ input: z.unknown() }).nullable(),
    }),
    source: z.object({
      changed: z.boolean(),
      added: z.int(),
      removed: z.int(),
      /** A unified diff without a header. */
      patch: z.string(),
    }),
  })
  .meta({ id: 'WorkflowDiff' })

export const diffVersions = route(
  'get',
  '/workflows/{namespace}/{workflow_name}/versions/{a}/diff/{b}',
  {
    summary: 'Show what changed from one version of a workflow to another',
    isExpensive: true,
    access: 'workflow:{namespace}:{workflow_name}:read',
    params: { a: versionParam('a'), b: versionParam('b') },
    returns: WorkflowDiff,
    async handle({ params: { namespace, workflow_name: name, a, b } }, { catalog }: Deps) {
      const found = await catalog.diff({
        namespace,
        name,
        from_version: a,
        to_version: b,
      })
      const head = JSON.stringify({ namespace, name, from_version: a, to_version: b })
      return new JsonText(`${head.slice(0, -1)},${partsOf(found)}}`)
    },
  },
)

/** Values are JSON text already; '' stands for none. */
const json = (text: string): string => text || 'null'

function partsOf({ changes, input, source }: DiffResponse): string {
  const declared = changes.map(
    ({ member, from_json, to_json }) =>
      `{"member":${JSON.stringify(member)},"from":${json(from_json)},"to":${json(to_json)}}`,
  )
  return `"declared":[${declared.join()}],"input_schema":${inputOf(input)},"source":${sourceOf(source)}`
}

function inputOf(input: DiffResponse['input']): string {
  const { from_json = '', to_json = '', example_json = '', problems = [] } = input ?? {}
  const listed = problems.map(
    ({ loc_json, msg }) => `{"loc":${loc_json},"msg":${JSON.stringify(msg)}}`,
  )
  return (
    `{"from":${json(from_json)},"to":${json(to_json)},"changed":${from_json !== to_json}` +
    `,"compatibility":"${input?.compatibility}"` +
    `,"compatibility_of_named_members":"${input?.of_named_members}"` +
    `,"problems":[${listed.join()}]` +
    `,"example":${example_json === '' ? 'null' : `{"input":${example_json}}`}}`
  )
}

function sourceOf(source: DiffResponse['source']): string {
  const { added = 0, removed = 0, patch = '' } = source ?? {}
  return JSON.stringify({ changed: patch !== '', added, removed, patch })
}
