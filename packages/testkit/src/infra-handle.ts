/** Running PostgreSQL, NATS and Redis for one run of the tests. */
export interface Infra {
  urls: {
    TEST_POSTGRES_URL: string
    TEST_NATS_URL: string
    TEST_REDIS_URL: string
    /** Set if NATS and Redis have a user for each service, with passwords derived from the administrator's. */
    TEST_SERVICE_USERS?: string
  }
  stop(): Promise<void>
}
