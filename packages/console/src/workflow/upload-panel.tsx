import { useRef, useState } from 'preact/hooks'
import { useMe } from '../api/me.ts'
import { useRefusal } from '../api/permissions.ts'
import { send } from '../api/server.ts'
import type { WorkflowRow } from '../api/workflows.ts'
import { count } from '../format/time.ts'
import { workflowAddress } from '../location/address.ts'
import { refusalOf } from '../ui/feedback.tsx'
import { Icon } from '../ui/icon.tsx'
import { Link } from '../ui/link.tsx'
import { Refusal } from '../ui/refusal.tsx'

interface Draft {
  namespace: string
  name: string
  metadata: { task_names?: string[] }
}

type Stage =
  | { name: 'ready' }
  | { name: 'checking' | 'uploading'; file: File }
  | { name: 'checked'; file: File; drafts: Draft[] }
  | { name: 'done'; rows: WorkflowRow[] }
  | { name: 'failed'; file: File; why: string }

async function upload(file: File, isDryRun: boolean): Promise<string> {
  const body = new FormData()
  body.append('file', file)
  const query = isDryRun ? { dry_run: 'true' } : {}
  return send({ method: 'POST', path: '/workflows', query, body })
}

/** Takes a Python file, shows what the server finds in it, and uploads it when that is confirmed. */
export function UploadPanel({ onUploaded }: { onUploaded: () => void }) {
  const [stage, setStage] = useState<Stage>({ name: 'ready' })
  const [isOver, setOver] = useState(false)
  const refusal = useRefusal('workflow:default:*:register')
  const maxBytes = useMe().data?.limits.max_workflow_upload_bytes ?? Number.POSITIVE_INFINITY
  const attempts = useRef(0)
  const attempt = async (file: File, act: () => Promise<Stage>) => {
    const own = ++attempts.current
    const failed = (error: Error): Stage => ({ name: 'failed', file, why: refusalOf(error) })
    const next = await act().catch(failed)
    // The answer about an earlier file does not replace what is shown of a later one.
    if (own === attempts.current) setStage(next)
  }
  const check = (file: File | undefined) => {
    if (!file || stage.name === 'uploading') return
    if (file.size > maxBytes) {
      attempts.current++
      const why = `Too large: it has ${count(file.size)} bytes, and the server accepts at most ${count(maxBytes)}. Nothing was sent.`
      return setStage({ name: 'failed', file, why })
    }
    setStage({ name: 'checking', file })
    void attempt(file, async () => ({
      name: 'checked',
      file,
      drafts: JSON.parse(await upload(file, true)) as Draft[],
    }))
  }
  const confirm = (file: File) => {
    setStage({ name: 'uploading', file })
    void attempt(file, async () => {
      const rows = JSON.parse(await upload(file, false)) as WorkflowRow[]
      onUploaded()
      return { name: 'done', rows }
    })
  }
  return (
    <section
      class={isOver ? 'drop over' : 'drop'}
      aria-label="Upload"
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        check(event.dataTransfer?.files[0])
      }}
    >
      <label class="drop-choice" title={refusal}>
        <Icon name="upload" />
        <span>Drop a Python file here, or choose one</span>
        <input
          type="file"
          accept=".py,text/x-python"
          disabled={stage.name === 'uploading'}
          onChange={(event) => {
            check(event.currentTarget.files?.[0])
            event.currentTarget.value = ''
          }}
        />
      </label>
      <Refusal text={refusal} />
      <div role="status">
        <StageText stage={stage} onConfirm={confirm} onReset={() => setStage({ name: 'ready' })} />
      </div>
    </section>
  )
}

interface StageProps {
  stage: Stage
  onConfirm: (file: File) => void
  onReset: () => void
}

function StageText({ stage, onConfirm, onReset }: StageProps) {
  if (stage.name === 'ready') return null
  if (stage.name === 'failed')
    return (
      <p class="cause">
        {stage.file.name}: {stage.why}
      </p>
    )
  if (stage.name === 'done')
    return (
      <p>
        Uploaded:{' '}
        {stage.rows.map(({ namespace, name, version }) => (
          <span key={`${namespace}/${name}`}>
            <Link to={workflowAddress(namespace, name)}>
              {namespace}/{name}
            </Link>{' '}
            version {version}{' '}
          </span>
        ))}
      </p>
    )
  if (stage.name === 'uploading') return <p class="faint">{stage.file.name} is being uploaded …</p>
  if (stage.name !== 'checked') return <p class="faint">{stage.file.name} is being read …</p>
  return (
    <div class="draft">
      <p>
        <strong>{stage.file.name}</strong> has {stage.drafts.length}{' '}
        {stage.drafts.length === 1 ? 'workflow' : 'workflows'}:
      </p>
      <ul>
        {stage.drafts.map(({ namespace, name, metadata }) => (
          <li key={`${namespace}/${name}`}>
            <strong>
              {namespace}/{name}
            </strong>{' '}
            <span class="faint">tasks: {metadata.task_names?.join(', ') || 'none'}</span>
          </li>
        ))}
      </ul>
      <div class="actions">
        <button type="button" class="primary" onClick={() => onConfirm(stage.file)}>
          Upload as new versions
        </button>
        <button type="button" onClick={onReset}>
          Do not upload
        </button>
      </div>
    </div>
  )
}
