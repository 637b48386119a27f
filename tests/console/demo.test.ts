import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { launch, whyNoBrowser } from '../security/chromium.ts'
import { dataDir, npmStart } from '../security/npm-start.ts'
import { isWhole, LIMIT_MS } from './console-fixture.ts'
import { WatchedPage } from './watched-page.ts'

const FOLDER = fileURLToPath(new URL('../../docs/console/', import.meta.url))
const takesPictures = process.env.TEST_SCREENSHOTS === '1'
const isWanted = (isWhole || takesPictures) && whyNoBrowser() === undefined

// It starts a system of its own, with the real `npm start`.
test.skipIf(!isWanted)(
  'npm start, Home: the worker is killed in the middle of a run, which continues at the same task',
  async () => {
    const { url, printed } = await npmStart(await dataDir({}), {}, [], { demo: true })
    const browser = await launch('unused.example')
    onTestFinished(() => browser.close())
    const one = await WatchedPage.open(browser, url, { viewport: { width: 1_200, height: 720 } })
    const { page } = one
    const picture = (number: number) =>
      takesPictures && page.screenshot({ path: `${FOLDER}demo-${number}.png` })
    const panel = page.getByRole('region', { name: 'Demonstration' })
    const tasks = panel.getByRole('list', { name: 'Tasks' }).getByRole('listitem')

    await one.visit('', 'Home')
    const bar = page.getByRole('region', { name: 'Access' })
    expect(await bar.textContent()).toContain('everyone who reaches this address may do everything')
    expect(await bar.locator('code').textContent()).toBe('npm start -- --auth')
    await panel.getByRole('button', { name: 'Start ten tasks' }).click()
    // The address is the state: the run is found again after a reload.
    await page.waitForURL(/\?demo=[0-9a-f]{32}$/)
    await expect.poll(() => tasks.filter({ hasText: 'done' }).count()).toBeGreaterThan(2)
    expect(await one.findings()).toEqual([])
    await picture(1)
    await panel.getByRole('button', { name: 'Kill the worker' }).click()
    await panel.getByText('1 process was killed').waitFor()
    await picture(2)
    await panel.getByText(/Attempt 2 continued at task \d+/).waitFor()
    await page.reload()
    await panel.getByText(/Attempt 2 continued at task \d+/).waitFor()
    await picture(3)
    await panel.getByText('10 of 10 tasks are done').waitFor()
    await panel.getByText('The run is complete.').waitFor()
    await picture(4)

    const texts = await tasks.allInnerTexts()
    const attempts = texts.map((text) => Number(/attempt (\d)/.exec(text)?.[1]))
    expect(attempts).toEqual([...attempts].sort())
    expect(new Set(attempts)).toEqual(new Set([1, 2]))
    const id = new URL(page.url()).searchParams.get('demo')
    const execution = await (await fetch(`${url}/executions/${id}`)).json()
    expect(execution).toMatchObject({ state: 'COMPLETED', output: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] })
    expect(printed()).toMatch(/worker-1 ended \(.*SIGKILL.*\).*starting it again/)
    expect(one.problems).toEqual([])
    await one.close()
  },
  LIMIT_MS,
)
