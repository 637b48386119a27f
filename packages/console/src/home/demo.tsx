import { useState } from 'preact/hooks'
import { crashWorkers, DEMO_TASKS, readDemo, startDemo } from '../api/demo.ts'
import { useMe } from '../api/me.ts'
import { useQuery } from '../api/use-query.ts'
import { navigateFromHere, usePlace } from '../location/location.ts'
import { FailureText } from '../ui/failure-text.tsx'
import { Icon } from '../ui/icon.tsx'
import { Link } from '../ui/link.tsx'
import { useAct } from '../ui/use-act.ts'
import { continuation, type Sequence, sequenceOf } from './demo-steps.ts'

const EVERY_MS = 500

/** The demonstration of `npm start`: a run continues although its worker is killed. Nothing on other servers. */
export function Demo() {
  const me = useMe()
  if (!me.data?.features.demo) return null
  return <KillTheWorker />
}

function KillTheWorker() {
  const id = usePlace().query.get('demo') ?? ''
  const [killed, setKilled] = useState(0)
  const { isBusy, failure, act } = useAct()
  const sequence = useSequence(id)
  const start = () =>
    act(async () => {
      const go = navigateFromHere()
      setKilled(0)
      go(`?demo=${await startDemo()}`)
    })
  const kill = () => act(async () => setKilled(await crashWorkers()))
  const isRunning = id !== '' && sequence !== undefined && !sequence.hasEnded
  return (
    <section class="card demo" aria-label="Demonstration">
      <h2>Kill the worker: the run continues</h2>
      <ol class="steps">
        <li>
          <button type="button" disabled={isBusy || isRunning} onClick={start}>
            <Icon name="play" /> Start ten tasks
          </button>{' '}
          one after another, 1.5 s each
        </li>
        <li>
          <button type="button" class="danger" disabled={isBusy || !isRunning} onClick={kill}>
            <Icon name="close" /> Kill the worker
          </button>{' '}
          {killed === 0
            ? 'without a warning (SIGKILL); npm start starts another one'
            : `${killed} ${killed === 1 ? 'process was' : 'processes were'} killed; npm start starts another one`}
        </li>
        <li>Watch the tasks: those that are done do not run again</li>
      </ol>
      <FailureText text={failure} />
      {id !== '' && sequence && <Progress id={id} sequence={sequence} />}
    </section>
  )
}

function Progress({ id, sequence }: { id: string; sequence: Sequence }) {
  const done = sequence.steps.filter(({ isDone }) => isDone).length
  const end = sequence.isComplete ? ' The run is complete.' : ''
  return (
    <>
      <ol class="demo-tasks" aria-label="Tasks">
        {Array.from({ length: DEMO_TASKS }, (_, i) => (
          <Task key={i} number={i + 1} step={sequence.steps[i]} />
        ))}
      </ol>
      <p role="status">
        {done} of {DEMO_TASKS} tasks are done. {continuation(sequence)}
        {end}
      </p>
      <p>
        <Link to={`executions/${id}`}>Its timeline and log</Link>
      </p>
    </>
  )
}

function Task({ number, step }: { number: number; step: Sequence['steps'][number] | undefined }) {
  const tone = step?.isDone ? 'good' : step ? 'run' : 'off'
  const word = step?.isDone ? 'done' : step ? 'runs' : 'waits'
  return (
    <li class={`demo-task tone-${tone}`}>
      <strong>{number}</strong> <span>{word}</span>
      {step && <small>attempt {step.attempt}</small>}
    </li>
  )
}

function useSequence(id: string): Sequence | undefined {
  const [hasEnded, setEnded] = useState('')
  const isOver = hasEnded === id
  const log = useQuery(
    id === '' ? undefined : `demo ${id}`,
    async (signal) => {
      const sequence = sequenceOf(await readDemo(id, signal))
      if (sequence.hasEnded) setEnded(id)
      return sequence
    },
    { every: isOver ? undefined : EVERY_MS },
  )
  return log.data
}
