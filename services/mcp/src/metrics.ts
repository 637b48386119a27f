import { counter, histogram } from '@windlass/runtime/metrics/instruments'

export const toolCalls = counter('windlass_mcp_tool_calls_total', {
  help: 'Calls of tools by outcome: ok; failed, with the error in the result.',
  labels: ['tool', 'outcome'],
})
export const toolDuration = histogram('windlass_mcp_tool_duration_seconds', {
  help: 'Time from the call of a tool to its result.',
  labels: ['tool'],
})
