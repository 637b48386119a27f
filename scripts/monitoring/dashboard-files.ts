import { type Dashboard, dashboards, type Panel } from './panels.ts'

const COLUMNS = 2
const WIDTH = 12
const HEIGHT = 8
/** The variable of the dashboard that names the data source. */
const SOURCE = { type: 'prometheus', uid: ['$', '{datasource}'].join('') }

/** The dashboards as files for Grafana, by path. */
export const dashboardFiles = (): Record<string, string> =>
  Object.fromEntries(
    dashboards.map((dashboard) => [
      `deploy/monitoring/dashboards/${dashboard.uid}.json`,
      `${JSON.stringify(toGrafana(dashboard), undefined, 2)}\n`,
    ]),
  )

const toGrafana = ({ uid, title, panels }: Dashboard) => ({
  uid,
  title,
  tags: ['windlass'],
  schemaVersion: 39,
  editable: true,
  refresh: '30s',
  time: { from: 'now-1h', to: 'now' },
  templating: {
    list: [{ name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' }],
  },
  panels: panels.map(toPanel),
})

const toPanel = ({ title, unit, queries }: Panel, index: number) => ({
  id: index + 1,
  title,
  type: 'timeseries',
  datasource: SOURCE,
  gridPos: {
    x: (index % COLUMNS) * WIDTH,
    y: Math.floor(index / COLUMNS) * HEIGHT,
    w: WIDTH,
    h: HEIGHT,
  },
  fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
  options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi' } },
  targets: queries.map(([expr, legendFormat], i) => ({
    refId: String.fromCharCode('A'.charCodeAt(0) + i),
    datasource: SOURCE,
    expr,
    legendFormat,
  })),
})
