/** What the demonstration did. */
export function demoText({ workflow, input, state, output, tookMs }) {
  return `
  ${workflow.namespace}/${workflow.name}, version ${workflow.version}, ran on a Python worker:
    input   ${JSON.stringify(input)}
    output  ${JSON.stringify(output)}
    state   ${state}
    time    ${tookMs.toFixed(0)} ms
`
}

/** Where to go next. */
export function servingText({ url, mcpUrl, logs, example }) {
  return `
Windlass serves on ${url}

  Upload    curl -F file=@${example} ${url}/workflows
  Run       curl -X POST ${url}/workflows/default/hello_world/run/sync \\
                 -H 'content-type: application/json' -d '"World"'
  Workers   curl ${url}/workers
  MCP       ${mcpUrl}
  Docs      README.md, docs/
  Logs      ${logs}

Press Ctrl-C to stop everything.
`
}

export const OPEN_TEXT = `
  !!  AUTHENTICATION IS OFF. Everyone who can reach these ports may upload and run code here.
  !!  They listen on 127.0.0.1 only. For more, turn it on: [svc.security.auth] enabled = true,
  !!  with execution_token_secret and encryption_key set (docs/security.md).
`
