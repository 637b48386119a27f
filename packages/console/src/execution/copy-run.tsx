import { useMe } from '../api/me.ts'
import { serverUrl } from '../api/server.ts'
import type { ExecutionDetail } from '../exact/execution.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { curlCommand, pythonCode, windlassCommand } from './run-commands.ts'

/** Buttons that copy the input of an execution as a command that starts the workflow with it. */
export function CopyRun({
  execution: { namespace, workflow, input },
}: {
  execution: ExecutionDetail
}) {
  const needsKey = useMe().data?.features.authentication ?? true
  const run = { namespace, workflow, input, version: undefined, serverUrl: serverUrl(), needsKey }
  return (
    <fieldset class="copy-run">
      <legend class="faint">Copy as a command that runs the newest version with this input</legend>
      <CopyButton text={() => curlCommand(run)} label="curl" />
      <CopyButton text={() => windlassCommand(run)} label="windlass run" />
      <CopyButton text={() => pythonCode(run)} label="Python" />
    </fieldset>
  )
}
