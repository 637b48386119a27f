/**
 * Programs, and the code of worker threads, that the build bundles into one file each, by the folder of
 * their package. `main` of `services/gateway` is `src/main.ts` there and becomes `dist/main.js`.
 */
export const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  'services/gateway': ['main', 'route/body.worker'],
  'services/identity': ['main', 'migrate', 'create-admin-key', 'review-anonymous', 'prune-audit'],
  'services/catalog': ['main', 'migrate', 'analysis/analysis.worker'],
  'services/executions': ['main', 'migrate', 'archive-tool', 'restore-tool'],
  'services/dispatcher': ['main', 'migrate'],
  'services/scheduler': ['main', 'migrate'],
  'services/mcp': ['main'],
  'packages/cli': ['main'],
}
