import { getMembers } from '@windlass/api-client/payload'
import { stringOf } from '@windlass/runtime/json/json'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { useRefusal } from '../api/permissions.ts'
import { rerun } from '../api/repeats.ts'
import { send, sendStart } from '../api/server.ts'
import { useQuery } from '../api/use-query.ts'
import { getWorkflow, type Workflow, workflowPath } from '../api/workflows.ts'
import { toExecution } from '../exact/execution.ts'
import { executionAddress, startAddress, workflowAddress } from '../location/address.ts'
import { navigateFromHere } from '../location/location.ts'
import type { ScreenProps } from '../shell/app.tsx'
import { fieldsOf, initialText, problemOfJson } from '../start/form.ts'
import { InputForm } from '../start/input-form.tsx'
import { isTooLongToEdit, JsonInput } from '../start/json-input.tsx'
import { LastInputs } from '../start/last-inputs.tsx'
import { VersionChoice } from '../start/version-choice.tsx'
import { Loaded } from '../ui/feedback.tsx'
import { Icon } from '../ui/icon.tsx'
import { Link } from '../ui/link.tsx'
import { Page } from '../ui/page.tsx'
import { useAct } from '../ui/use-act.ts'

/**
 * Starts a workflow: a form from its schema next to the JSON. `input_of` takes over the input of an execution;
 * `from` runs it again, so that it is the origin of the new one.
 */
export function StartScreen({ rest: [namespace = '', name = ''], place: { query } }: ScreenProps) {
  const version = query.get('version') ?? undefined
  const from = query.get('from') ?? undefined
  const inputOf = from ?? query.get('input_of') ?? undefined
  const workflow = useQuery(`workflow ${namespace}/${name}@${version ?? ''}`, (signal) =>
    getWorkflow({ namespace, name, version }, signal),
  )
  const earlier = useQuery(inputOf && `input ${inputOf}`, async (signal) => {
    const path = `/executions/${encodeURIComponent(inputOf ?? '')}`
    return toExecution(await send({ method: 'GET', path }, signal)).input
  })
  // Kept here, with the request that is under way, because the form begins anew with each version.
  const [typed, setTyped] = useState<Typed>()
  const text = typed?.of === inputOf ? typed?.text : undefined
  const onType = (changed: string) => setTyped({ of: inputOf, text: changed })
  const [runKey, onRunKey] = useState('')
  const starting = useAct()
  const kept = { text, onType, runKey, onRunKey, starting }
  return (
    <Page
      title={`Run ${name}`}
      aside={
        <Link to={workflowAddress(namespace, name)} class="faint">
          {namespace}/{name}
        </Link>
      }
    >
      <Loaded answer={workflow}>
        {(found) =>
          inputOf === undefined ? (
            <Start key={found.id} workflow={found} {...kept} />
          ) : (
            <Loaded answer={earlier}>
              {(input) => (
                <Start
                  key={`${found.id}${inputOf}`}
                  workflow={found}
                  {...{ input, inputOf, from, ...kept }}
                />
              )}
            </Loaded>
          )
        }
      </Loaded>
    </Page>
  )
}

/** The input as it was changed. */
interface Typed {
  /** The execution whose input it was. */
  of: string | undefined
  text: string
}

interface Props {
  workflow: Workflow
  /** The input as it was changed; undefined if it was not. */
  text: string | undefined
  onType: (text: string) => void
  /** The idempotency key; empty for a new one. */
  runKey: string
  onRunKey: (key: string) => void
  starting: ReturnType<typeof useAct>
  /** Exact text of an earlier input. */
  input?: string
  /** The execution with that input. */
  inputOf?: string
  /** The execution that is run again. */
  from?: string | undefined
}

function Start({ workflow, input, inputOf, from, onType, onRunKey, ...kept }: Props) {
  const { namespace, name, metadata } = workflow
  const schema = metadata.input_schema
  const text = kept.text ?? input ?? initialText(schema)
  const { isBusy, failure, act } = kept.starting
  const refusal = useRefusal(`workflow:${namespace}:${name}:run`)
  const problem = useMemo(() => problemOfJson(text), [text])
  const fields = isTooLongToEdit(text) ? undefined : fieldsOf(schema)
  const start = () =>
    act(async () => {
      const go = navigateFromHere()
      go(executionAddress(await run(workflow, { body: text, from, key: kept.runKey })))
    })
  useRunKey(start, isBusy || problem !== undefined || refusal !== undefined)
  return (
    <div class="start">
      {inputOf && (
        <p class="faint">
          With the input of <Link to={executionAddress(inputOf)}>{inputOf}</Link>, exactly as it is
          stored.
        </p>
      )}
      <div class="filters">
        <VersionChoice
          {...{ namespace, name }}
          version={String(workflow.version)}
          to={(version) =>
            startAddress(namespace, name, { version, [from ? 'from' : 'input_of']: inputOf })
          }
        />
        <KeyField value={kept.runKey} onChange={onRunKey} />
      </div>
      <div class={fields ? 'start-columns' : undefined}>
        {fields && (
          <InputForm
            fields={fields}
            text={text}
            isUnreadable={problem !== undefined}
            onChange={onType}
          />
        )}
        <JsonInput text={text} problem={problem} onChange={onType} />
      </div>
      {failure && (
        <p class="cause" role="alert">
          {failure}
        </p>
      )}
      <div class="actions">
        <button
          type="button"
          class="primary"
          disabled={isBusy || problem !== undefined || refusal !== undefined}
          title={refusal}
          onClick={start}
        >
          <Icon name="play" /> Run
        </button>
        <span class="faint">{refusal ?? 'Ctrl+Enter'}</span>
      </div>
      <LastInputs
        {...{ namespace, name }}
        to={(id) => startAddress(namespace, name, { version: workflow.version, input_of: id })}
      />
    </div>
  )
}

/** Characters that the server takes. */
const MAX_KEY = 255

const KeyField = ({ value, onChange }: { value: string; onChange: (key: string) => void }) => (
  <label
    class="text-filter"
    title="A second start under the same key, within a day, is the first one"
  >
    <span>Idempotency key</span>
    <input
      type="text"
      value={value}
      maxLength={MAX_KEY}
      placeholder="a new one"
      spellcheck={false}
      onInput={(event) => onChange(event.currentTarget.value)}
    />
  </label>
)

interface RunRequest {
  /** JSON text of the input. */
  body: string
  from: string | undefined
  key: string
}

/** An execution that is run again stays the origin of the new one. */
async function run(workflow: Workflow, { body, from, key }: RunRequest): Promise<string> {
  const { namespace, name, version } = workflow
  if (from !== undefined) return rerun(from, { input: body, version }, key)
  const path = `${workflowPath(namespace, name)}/run/async`
  const query = { version: String(version) }
  const answer = await sendStart({ method: 'POST', path, query, body }, key)
  return stringOf(getMembers(answer, ['execution_id']).execution_id) ?? ''
}

/** Effects run a frame after the drawing: a key in between would have the text before the last change. */
function useRunKey(run: () => void, isOff: boolean): void {
  const now = useRef({ run, isOff })
  now.current = { run, isOff }
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
      if (!now.current.isOff) now.current.run()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])
}
