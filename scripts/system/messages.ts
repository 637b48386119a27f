import type { Settings } from '../../packages/runtime/src/config/settings.ts'
import type { Demo } from './demo.ts'

/** Describes the result of the demonstration. */
export function demoText({ workflow, input, state, output, tookMs }: Demo): string {
  return `
  ${workflow.namespace}/${workflow.name}, version ${workflow.version}, ran on a Python worker:
    input   ${JSON.stringify(input)}
    output  ${JSON.stringify(output)}
    state   ${state}
    time    ${tookMs.toFixed(0)} ms
`
}

interface Addresses {
  consoleUrl: string
  url: string
  mcpUrl: string
  metricsUrl: string
  /** File with the admin addresses of all services. */
  targets: string
  /** Folder of the logs. */
  logs: string
  /** File of the example workflow. */
  example: string
}

/** Lists the addresses and the next steps. */
export function servingText(
  { consoleUrl, url, mcpUrl, metricsUrl, targets, logs, example }: Addresses,
  hasAuth: boolean,
): string {
  const curl = hasAuth ? 'curl -H "authorization: Bearer $SVC_AUTH_TOKEN"' : 'curl'
  return `
  Console   ${consoleUrl}

Windlass serves on ${url}

  Upload    ${curl} -F file=@${example} ${url}/workflows
  Run       ${curl} -X POST ${url}/workflows/default/hello_world/run/sync \\
                 -H 'content-type: application/json' -d '"World"'
  Workers   ${curl} ${url}/workers
  MCP       ${mcpUrl}
  Metrics   ${metricsUrl} of the gateway; addresses of all services: ${targets}
  Docs      README.md, docs/
  Logs      ${logs}

Press Ctrl-C to stop everything.
`
}

/** Warns that authentication is off, with the hosts that gateway and MCP listen on. */
export function openText({ server, mcp }: Settings): string {
  const hosts = [...new Set([server.host, mcp.host])].join(' and ')
  return `
  !!  AUTHENTICATION IS OFF. Anyone who can reach these ports may upload and run code here.
  !!  They listen on ${hosts}. To turn it on:  npm start -- --auth  (docs/security.md)
`
}

export const SHARED_USER_TEXT = `
  !!  WORKERS RUN AS THE SAME USER AS THE SERVER. Whoever can upload a workflow can read the
  !!  secrets and the data of this server. Upload only what you trust, or run the workers elsewhere:
  !!  npm start -- --workers 0, and \`windlass worker start\` as another user, in a container or on
  !!  another host. If npm start runs as root and a Python outside of root's home is installed, each
  !!  worker gets a user of its own.
`

export const NO_BROWSER_TEXT = `
  No program here can open a browser: enter the address of the console in a browser yourself.
`

export const NO_WORKER_TEXT = `
  No worker was started: with authentication on, uploaded code runs next to the server only with
  --workers N. On another machine:  windlass-worker start --server-url URL --bootstrap-token-file F
  (to get the token:  npx windlass server bootstrap-token).
`

/** Shows the first administrator's key, which is stored only as a hash. */
export function adminKeyText(key: string): string {
  return `
  The first administrator's key, shown only once; npx windlass and the commands above read it from here:

      export SVC_AUTH_TOKEN=${key}

  If you lose it, \`npx windlass admin create-key\` creates another one.
`
}
