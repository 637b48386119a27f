import { createHash } from 'node:crypto'

const STYLE = `
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.4rem; margin: 0 } h2 { font-size: 1rem; margin: 1.5rem 0 .3rem }
details { border: 1px solid #8884; border-radius: 6px; margin: .3rem 0; padding: 0 .6rem }
summary { cursor: pointer; padding: .4rem 0 } form { padding-bottom: .6rem }
b { display: inline-block; min-width: 4.2rem; font: 600 .85rem ui-monospace, monospace }
code, pre, textarea, input { font: .9rem ui-monospace, monospace }
label { display: grid; grid-template-columns: 11rem 1fr; gap: .5rem; margin: .2rem 0 }
textarea { min-height: 5rem } small { opacity: .7 }
pre { max-height: 24rem; overflow: auto; background: #8881; padding: .6rem; white-space: pre-wrap }
`

const SCRIPT = `
const make = (tag, props, ...children) => {
  const element = Object.assign(document.createElement(tag), props)
  element.append(...children)
  return element
}
const token = document.querySelector('#token')

async function send(method, path, operation, form, out) {
  const values = new FormData(form)
  const query = new URLSearchParams()
  let url = path
  for (const { name, in: where } of operation.parameters) {
    const value = values.get(where + name)
    if (where === 'path') url = url.replace('{' + name + '}', encodeURIComponent(value))
    else if (value !== '') query.set(name, value)
  }
  const headers = token.value ? { authorization: 'Bearer ' + token.value } : {}
  const file = values.get('file')
  let body = values.get('body') || undefined
  if (file) {
    body = new FormData()
    body.append('file', file)
  } else if (body !== undefined) headers['content-type'] = 'application/json'
  out.textContent = '...'
  const search = query.size > 0 ? '?' + query : ''
  const response = await fetch(url + search, { method, headers, body, credentials: 'omit' })
  out.textContent = response.status + ' ' + (response.headers.get('x-request-id') ?? '') + '\\n'
  const text = response.body.pipeThrough(new TextDecoderStream()).getReader()
  for (let part = await text.read(); !part.done; part = await text.read())
    out.textContent += part.value
}

function show(method, path, operation) {
  const fields = operation.parameters.map(({ name, in: where, required, schema }) =>
    make('label', {}, name + (required ? ' *' : ''), make('input', {
      name: where + name, required, placeholder: schema.enum?.join(' | ') ?? schema.type ?? '',
    })))
  const types = Object.keys(operation.requestBody?.content ?? {})
  if (types[0] === 'application/json') fields.push(make('label', {}, 'body (JSON)', make('textarea', { name: 'body' })))
  if (types[0] === 'multipart/form-data') fields.push(make('label', {}, 'file', make('input', { name: 'file', type: 'file' })))
  const out = make('pre', { hidden: true })
  const form = make('form', {}, ...fields, make('button', {}, 'Send'))
  form.onsubmit = (event) => {
    event.preventDefault()
    out.hidden = false
    send(method, path, operation, form, out).catch((error) => { out.textContent = String(error) })
  }
  return make('details', {},
    make('summary', {}, make('b', {}, method), make('code', {}, path), ' ', make('small', {}, operation.summary)),
    make('p', {}, operation.description), form, out)
}

const { info, paths } = await (await fetch('openapi.json')).json()
document.querySelector('h1').textContent = info.title + ' ' + info.version
const groups = new Map()
for (const [path, methods] of Object.entries(paths))
  for (const [method, operation] of Object.entries(methods)) {
    const tag = operation.tags[0]
    if (!groups.has(tag)) {
      groups.set(tag, make('section', {}, make('h2', {}, tag)))
      document.querySelector('main').append(groups.get(tag))
    }
    groups.get(tag).append(show(method.toUpperCase(), path, operation))
  }
`

const HTML = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Windlass API</title><style>${STYLE}</style></head>
<body><h1>Windlass</h1>
<p><a href="openapi.json">openapi.json</a></p>
<label>bearer token <input id="token" type="password" autocomplete="off"></label>
<main></main><script type="module">${SCRIPT}</script></body></html>
`

const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** A page that reads the OpenAPI document and sends requests; it loads nothing from other hosts. */
export const docsPage = {
  html: HTML,
  policy:
    `default-src 'none'; connect-src 'self'; script-src ${hash(SCRIPT)}; style-src ${hash(STYLE)}; ` +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
}
