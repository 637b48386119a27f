import { useMe } from '../api/me.ts'
import { payloadPath } from '../api/payload.ts'
import { readBlob, serverUrl } from '../api/server.ts'
import type { ExecutionHead } from '../exact/execution.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { curlCommand, pythonCode, type Run, windlassCommand } from './run-commands.ts'

/** Buttons that copy the input of an execution as a command that starts the workflow with it. */
export function CopyRun({
  execution: { id, namespace, workflow },
}: {
  execution: Pick<ExecutionHead, 'id' | 'namespace' | 'workflow'>
}) {
  const needsKey = useMe().data?.features.authentication ?? true
  // Read only when it is copied, because it may be large.
  const commandBy = (print: (run: Run) => string) => async () => {
    const input = await (await readBlob(payloadPath(id, 'input'))).text()
    return print({
      ...{ namespace, workflow, input, version: undefined },
      ...{ serverUrl: serverUrl(), needsKey },
    })
  }
  return (
    <fieldset class="copy-run">
      <legend class="faint">Copy as a command that runs the newest version with this input</legend>
      <CopyButton text={commandBy(curlCommand)} label="curl" name="Copy as curl" />
      <CopyButton
        text={commandBy(windlassCommand)}
        label="windlass run"
        name="Copy as windlass run"
      />
      <CopyButton text={commandBy(pythonCode)} label="Python" name="Copy as Python" />
    </fieldset>
  )
}
