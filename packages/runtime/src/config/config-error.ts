/** A mistake in the configuration. Its message is for the operator; a stack would not help. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}
