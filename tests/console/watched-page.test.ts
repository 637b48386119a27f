import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { launch, whyNoBrowser } from '../security/chromium.ts'
import { layoutFlaws } from './page-flaws.ts'
import { spokenFlaws } from './spoken-flaws.ts'
import { WatchedPage } from './watched-page.ts'

const obstacle = whyNoBrowser()
const POLICY = "default-src 'self'; script-src 'nonce-n'; img-src *; style-src 'unsafe-inline'"
let browser: Browser
let url = ''
let body = ''
const undo: (() => unknown)[] = []

/** Serves one page, whose body the tests set; `/500` fails. */
beforeAll(async () => {
  if (obstacle) return
  const server = createServer(({ url: path }, answer) => {
    answer.writeHead(path === '/500' ? 500 : 200, {
      'content-type': path?.startsWith('/console/') ? 'text/html' : 'text/plain',
      'content-security-policy': POLICY,
    })
    answer.end(`<!doctype html><html lang="en"><title>t</title><main><h1>t</h1>${body}</main>`)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  undo.push(() => server.close())
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  browser = await launch('unused.example')
  undo.push(() => browser.close())
})
afterAll(async () => {
  for (const one of undo.reverse()) await one()
})

const script = (text: string) => `<script nonce="n">${text}</script>`

async function open(html: string): Promise<WatchedPage> {
  body = html
  const one = await WatchedPage.open(browser, url)
  undo.push(one.close)
  await one.goto('')
  return one
}

describe.skipIf(obstacle)(`problems of a page${obstacle ? `: ${obstacle}` : ''}`, () => {
  test.each([
    ['throws an error', script('throw new Error("thrown")'), 'error: thrown'],
    ['leaves a rejection', script('Promise.reject(new Error("left"))'), 'error: left'],
    ['prints an error', script('console.error("printed")'), 'console: printed'],
    ['breaks its policy', '<script>1</script>', 'Content Security Policy'],
    ['asks another host', '<img alt="" src="http://localhost:1/">', 'request to another host'],
    ['gets an answer of 500', script('fetch("/500")'), '500 http'],
  ])('a page that %s: a problem', async (_, html, problem) => {
    const one = await open(html)
    await expect.poll(() => one.problems).toContainEqual(expect.stringContaining(problem))
  })

  test('a further tab that throws an error: a problem', async () => {
    const one = await open('')
    body = script('throw new Error("in a tab")')
    await (await one.page.context().newPage()).goto('/console/')
    await expect.poll(() => one.problems).toEqual(['error: in a tab'])
  })

  test.each([
    ['a picture without a text', '<img src="data:,">', 'image-alt'],
    [
      'a small target next to another',
      '<button style="all:unset;font-size:8px">a</button><button style="all:unset;font-size:8px">b</button>',
      'target-size',
    ],
  ])('a page with %s: a finding of axe', async (_, html, rule) => {
    expect(await (await open(html)).findings()).toContainEqual(expect.stringContaining(rule))
  })

  test.each([
    ['a word wider than the page', `<p>${'x'.repeat(500)}</p>`, 'wide'],
    [
      'a row of links that scrolls sideways',
      `<nav style="overflow-x:auto;width:99px"><a href="/">${'x'.repeat(99)}</a></nav>`,
      'scrolls sideways: NAV',
    ],
    ['text that is cut', '<p style="width:9px;overflow:hidden">words</p>', 'cut'],
    ['text over text', '<p style="margin-bottom:-1.5em">one</p><p>two</p>', 'overlap'],
    [
      'a control under another element',
      '<div style="position:relative"><button>b</button><i style="position:absolute;inset:0;width:99px"></i></div>',
      'covered',
    ],
    [
      'a control outside of the window',
      '<a href="/" style="position:fixed;left:-99px">a</a>',
      'unreachable',
    ],
  ])('a page with %s: a flaw of its layout', async (_, html, flaw) => {
    const { page } = await open(html)
    expect(await layoutFlaws(page)).toContainEqual(expect.stringContaining(flaw))
  })

  test.each([
    ['a control without a name', '<button></button>', 'no name: button'],
    ['a level of headings left out', '<h3>x</h3>', 'heading of level 3 after 1'],
    ['two titles', '<h1>x</h1>', '2 headings of level 1'],
    ['a table without heads', '<table><tr><td>1</td></tr></table>', 'table without heads'],
    ['a chart without a table', '<figure class="chart">c</figure>', 'chart without a table'],
    ['a control that does not say what it acts on', '<button>Copy</button>', 'acts on: Copy'],
    ['two buttons of one name', '<button>Copy it</button>'.repeat(2), '2 times: ["button"'],
    ['two headings of one name', '<h2>Keys</h2>'.repeat(2), '2 times: ["heading"'],
    ['two fields of one name', '<input aria-label="Name">'.repeat(2), '2 times: ["textbox"'],
    [
      'two links of one name to two places',
      '<a href="/a">state</a> <a href="/b">state</a>',
      'link to 2 places: state',
    ],
    [
      'a row whose control names another one',
      '<table><tr><th scope="row">one</th><td><button>Delete two</button></td></tr></table>',
      'does not name its row: Delete two',
    ],
    [
      'a row with a control and without a head',
      '<table><tr><th scope="col">a</th></tr><tr><td><button>Delete it</button></td></tr></table>',
      'row without a head',
    ],
    ['a picture in lines without a text', '<svg width="9" height="9"></svg>', 'picture without'],
  ])('a page with %s: a flaw for readers', async (_, html, flaw) => {
    const { page } = await open(html)
    expect(await spokenFlaws(page)).toContainEqual(expect.stringContaining(flaw))
  })
})
