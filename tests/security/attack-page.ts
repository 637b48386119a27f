/** Page scripts that send requests to the gateway in every way that browsers offer, and what they read. */

/** The address of the gateway, and a queued execution. */
export interface Target {
  url: string
  execution: string
}

export interface Attack {
  name: string
  /** Method and path of the request that reaches the gateway; a preflight has the path alone. */
  request: (target: Target) => string
  /** An expression whose promise resolves to everything that the page could read. */
  script: (target: Target) => string
  /** Its effect if it is not refused: it changes the state, reads the secret, or neither. */
  effect: 'change' | 'read' | 'none'
}

export const SECRET = '/admin/secrets/s'
const RUN = '/workflows/default/hello/run/async'
const UPLOAD = `from windlass import ExecutionContext, workflow

@workflow.with_options(name="planted", namespace="default")
async def planted(context: ExecutionContext):
    return 1
`

const quote = JSON.stringify
const cancel = ({ execution }: Target) => `/workflows/default/hello/cancel/${execution}`
const events = ({ execution }: Target) => `/executions/${execution}/events`

const FILE = `new File([${quote(UPLOAD)}], 'w.py')`
const FORM_DATA = `(() => { const form = new FormData(); form.append('file', ${FILE}); return form })()`

/** Sends a form into a frame of the page and resolves when the frame has its answer. */
const form = (path: string, encoding: string, field: string) => (target: Target) =>
  `
  new Promise((resolve) => {
    const frame = Object.assign(document.createElement('iframe'), { name: 'answer' })
    const form = Object.assign(document.createElement('form'), {
      method: 'POST', enctype: ${quote(encoding)}, target: 'answer', action: ${quote(target.url + path)},
    })
    const field = document.createElement('input')
    ${field}
    form.append(field)
    document.body.append(frame, form)
    form.submit()
    const read = () => { try { return frame.contentDocument.body.innerText } catch { return '' } }
    setInterval(() => { try { if (frame.contentDocument.URL === 'about:blank') return } catch {} resolve(read()) }, 50)
  })`

const fetched = (path: string, init: string) => (target: Target) =>
  `
  fetch(${quote(target.url + path)}, ${init}).then((answer) => answer.text()).catch(() => '')`

/** Adds an element that loads the URL and resolves when it has, or has failed. */
const element = (tag: string, attribute: string, more = '') => {
  return (path: string | ((target: Target) => string), read = `''`) =>
    (target: Target) =>
      `
  new Promise((resolve) => {
    const element = document.createElement(${quote(tag)})
    const read = () => { try { return ${read} } catch { return '' } }
    element.onload = element.onerror = () => resolve(read())
    ${more}
    element[${quote(attribute)}] = ${quote(target.url + (typeof path === 'string' ? path : path(target)))}
    document.body.append(element)
  })`
}

const constant = (request: string) => () => request

export const ATTACKS: readonly Attack[] = [
  {
    name: 'multipart form',
    request: constant('POST /workflows'),
    script: form(
      '/workflows',
      'multipart/form-data',
      `const files = new DataTransfer()
      files.items.add(${FILE})
      Object.assign(field, { type: 'file', name: 'file' })
      field.files = files.files`,
    ),
    effect: 'change',
  },
  {
    name: 'text/plain form',
    request: constant(`POST ${RUN}`),
    script: form(RUN, 'text/plain', `Object.assign(field, { name: '{"a":"', value: '"}' })`),
    // The declared type is refused anyway.
    effect: 'none',
  },
  {
    name: 'no-cors fetch with a file',
    request: constant('POST /workflows'),
    script: fetched('/workflows', `{ method: 'POST', mode: 'no-cors', body: ${FORM_DATA} }`),
    effect: 'change',
  },
  {
    name: 'no-cors fetch without a body',
    request: constant(`POST ${RUN}`),
    script: fetched(RUN, `{ method: 'POST', mode: 'no-cors' }`),
    effect: 'change',
  },
  {
    name: 'no-cors fetch without a content type',
    request: constant(`POST ${RUN}`),
    script: fetched(RUN, `{ method: 'POST', mode: 'no-cors', body: new Blob(['{}']) }`),
    // Refused with 415 even for the own origin.
    effect: 'none',
  },
  {
    name: 'cors fetch',
    request: constant(`GET ${SECRET}`),
    script: fetched(SECRET, '{}'),
    effect: 'read',
  },
  {
    name: 'cors fetch with a preflight',
    request: constant('POST /admin/secrets'),
    script: fetched(
      '/admin/secrets',
      `{ method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"name":"planted","value":1}' }`,
    ),
    effect: 'change',
  },
  {
    name: 'beacon',
    request: constant(`POST ${RUN}`),
    script: ({ url }) =>
      `Promise.resolve(navigator.sendBeacon(${quote(url + RUN)}) ? '' : 'not sent')`,
    effect: 'change',
  },
  {
    name: 'image',
    request: (target) => `GET ${cancel(target)}`,
    script: element('img', 'src')(cancel),
    effect: 'change',
  },
  {
    name: 'script',
    request: (target) => `GET ${cancel(target)}`,
    script: element('script', 'src')(cancel),
    effect: 'change',
  },
  {
    name: 'stylesheet',
    request: (target) => `GET ${cancel(target)}`,
    script: element('link', 'href', `element.rel = 'stylesheet'`)(cancel),
    effect: 'change',
  },
  {
    name: 'iframe',
    request: constant(`GET ${SECRET}`),
    script: element('iframe', 'src')(SECRET, 'element.contentDocument.body.innerText'),
    effect: 'read',
  },
  {
    name: 'event stream',
    request: (target) => `GET ${events(target)}`,
    script: (target) => `
  new Promise((resolve) => {
    const source = new EventSource(${quote(target.url + events(target))})
    source.onopen = source.onerror = ({ type }) => { source.close(); resolve(type) }
  })`,
    effect: 'none',
  },
  {
    name: 'WebSocket',
    request: constant('GET /workers/w/connect'),
    script: ({ url }) => `
  new Promise((resolve) => {
    const socket = new WebSocket(${quote(`${url.replace(/^http/, 'ws')}/workers/w/connect`)})
    socket.onopen = () => resolve('canary: the handshake succeeded')
    socket.onerror = () => resolve('')
  })`,
    effect: 'none',
  },
  {
    name: 'navigation',
    request: (target) => `GET ${cancel(target)}`,
    script: (target) => `void (location.href = ${quote(target.url + cancel(target))})`,
    effect: 'change',
  },
]
