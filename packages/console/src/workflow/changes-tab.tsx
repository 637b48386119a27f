import { useQuery } from '../api/use-query.ts'
import { type Compatibility, readChanges, type WorkflowChanges } from '../api/workflow-changes.ts'
import { listVersions, type Workflow } from '../api/workflows.ts'
import { count } from '../format/time.ts'
import { wholeOf, workflowAddress } from '../location/address.ts'
import { navigate } from '../location/location.ts'
import { Empty, Loaded } from '../ui/feedback.tsx'
import { JsonView } from '../ui/json-view.tsx'
import { VisibleText } from '../ui/visible-text.tsx'
import { memberChanges, type NameChanges, patchLines, taskChanges } from './change-lines.ts'

interface Props {
  workflow: Workflow
  query: URLSearchParams
}

/** Changes from one version to another: whether earlier inputs are taken, tasks, declarations, source. */
export function ChangesTab({ workflow: { namespace, name, version }, query }: Props) {
  const versions = useQuery(`versions ${namespace}/${name}`, (signal) =>
    listVersions(namespace, name, signal),
  )
  return (
    <Loaded answer={versions} lines={3}>
      {(rows) => {
        const known = rows.map((row) => row.version)
        const before = known.filter((one) => one < version)
        const from = wholeOf(query.get('from'), Math.max(0, ...before))
        if (from === 0)
          return (
            <Empty title={`Version ${version} is the first`}>
              There is none to compare it with.
            </Empty>
          )
        return (
          <>
            <label class="text-filter">
              <span>Compared with version</span>
              <select
                value={from}
                onChange={({ currentTarget }) => {
                  const values = { tab: 'changes', version, from: currentTarget.value }
                  navigate(workflowAddress(namespace, name, values))
                }}
              >
                {[...new Set([...known, from])]
                  .filter((one) => one !== version)
                  .map((one) => (
                    <option key={one} value={one}>
                      {one}
                    </option>
                  ))}
              </select>
            </label>
            <Changes versions={{ namespace, name, from, to: version }} />
          </>
        )
      }}
    </Loaded>
  )
}

function Changes({ versions }: { versions: Parameters<typeof readChanges>[0] }) {
  const { from, to } = versions
  const answer = useQuery(`changes ${JSON.stringify(versions)}`, (signal) =>
    readChanges(versions, signal),
  )
  return (
    <Loaded answer={answer}>
      {(changes) => (
        <div class="page-body">
          <Verdict changes={changes} />
          <Names label="Tasks" changes={taskChanges(changes)} />
          <Declared changes={changes} />
          <Source patch={changes.source.patch} title={`Source from ${from} to ${to}`} />
        </div>
      )}
    </Loaded>
  )
}

const VERDICTS: Record<Compatibility, (to: number, from: number) => string> = {
  compatible: (to, from) => `Version ${to} takes every input of version ${from}.`,
  incompatible: (to, from) => `Version ${to} refuses inputs that version ${from} takes.`,
  unknown: (to, from) =>
    `It could not be proven that version ${to} takes every input of version ${from}.`,
}

function Verdict({
  changes: { from_version, to_version, input_schema },
}: {
  changes: WorkflowChanges
}) {
  const { changed, compatibility, compatibility_of_named_members: ofNamed } = input_schema
  const members = memberChanges(input_schema.from, input_schema.to)
  const isBroken = compatibility === 'incompatible' && ofNamed !== 'compatible'
  return (
    <section class="card page-body" aria-label="Input">
      <h2>Input</h2>
      <p class={isBroken ? 'tone-bad' : undefined}>
        {changed ? VERDICTS[compatibility](to_version, from_version) : 'Its schema is the same.'}
        {compatibility === 'incompatible' &&
          ofNamed === 'compatible' &&
          ` It takes all that have only the members which version ${from_version} names.`}
      </p>
      {members && <MemberList members={members} />}
      {input_schema.problems.length > 0 && (
        <ul>
          {input_schema.problems.map(({ loc, msg }) => (
            <li key={`${loc.join('.')} ${msg}`}>
              <code>{loc.join('.') || 'the input'}</code>: <VisibleText text={msg} />
            </li>
          ))}
        </ul>
      )}
      {input_schema.example && (
        <JsonView
          title={`An input that version ${to_version} refuses`}
          text={JSON.stringify(input_schema.example.input)}
        />
      )}
    </section>
  )
}

const listed = (names: readonly string[]) => (names.length === 0 ? 'none' : names.join(', '))

const MemberList = ({ members }: { members: NonNullable<ReturnType<typeof memberChanges>> }) => (
  <dl class="facts">
    {(['added', 'removed', 'changed'] as const).map((kind) => (
      <div key={kind}>
        <dt>Members {kind}</dt>
        <dd>
          <VisibleText text={listed(members[kind])} />
        </dd>
      </div>
    ))}
  </dl>
)

function Names({ label, changes: { added, removed } }: { label: string; changes: NameChanges }) {
  return (
    <section class="card page-body" aria-label={label}>
      <h2>{label}</h2>
      {added.length + removed.length === 0 ? (
        <p>The same.</p>
      ) : (
        <dl class="facts">
          <div>
            <dt>Removed, or renamed</dt>
            <dd>
              <VisibleText text={listed(removed)} />
            </dd>
          </div>
          <div>
            <dt>Added</dt>
            <dd>
              <VisibleText text={listed(added)} />
            </dd>
          </div>
        </dl>
      )}
      {removed.length > 0 && (
        <p class="stale">
          An execution whose log has calls of a task that is gone pauses when it continues with this
          version.
        </p>
      )}
    </section>
  )
}

/** It has a card of its own. */
const TASKS = 'metadata.task_names'

function Declared({ changes: { declared } }: { changes: WorkflowChanges }) {
  const others = declared.filter(({ member }) => member !== TASKS)
  if (others.length === 0) return null
  return (
    <section class="card page-body" aria-label="Declared">
      <h2>Declared</h2>
      <dl class="facts">
        {others.map(({ member, from, to }) => (
          <div key={member}>
            <dt>{member.replace('metadata.', '').replaceAll('_', ' ')}</dt>
            <dd class="mono">
              <VisibleText text={`${textOf(from)} → ${textOf(to)}`} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

const textOf = (value: unknown) => (value === null ? 'none' : JSON.stringify(value))

/** Lines that are drawn at most. */
const MAX_LINES = 5_000

function Source({ patch, title }: { patch: string; title: string }) {
  if (patch === '') return <p class="faint">The source is the same.</p>
  const lines = patchLines(patch)
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      <pre class="patch" tabIndex={0} role="region" aria-label={`${title}, text`}>
        {lines.slice(0, MAX_LINES).map(({ kind, text }, i) => (
          <div key={i} class={`line-${kind}`}>
            <VisibleText text={text || ' '} />
          </div>
        ))}
      </pre>
      {lines.length > MAX_LINES && (
        <p class="stale">
          The first {count(MAX_LINES)} of {count(lines.length)} lines.
        </p>
      )}
    </section>
  )
}
