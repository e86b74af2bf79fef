import { registerAs } from '@nestjs/config';
import { hostname } from 'node:os';
import { Environment } from './environment.js';

/** The configuration of this application. README.md has the table of variables. */
export const workerConfig = registerAs('worker', () => {
  const { env } = process;
  const environment = new Environment(env);
  const config = {
    /** The name of this replica in the event feed. */
    node: env.SINGLETON_JOB_NODE_ID ?? env.POD_NAME ?? hostname(),
    http: {
      /** The address to listen on. Loopback by default, because every client can run and pause jobs. */
      host: env.HOST ?? '127.0.0.1',
      /** 0: any free port, so that several workers run on one machine. */
      port: environment.wholeNumber('PORT', 0),
    },
    logLevel: environment.oneOf('LOG_LEVEL', ['error', 'warn', 'log', 'debug', 'verbose'], 'log'),
    logFormat: environment.oneOf('LOG_FORMAT', ['text', 'json'], 'text'),
    spans: {
      /** Whether there is a collector. The exporter reads its address itself. */
      areCollected: [
        environment.hasUrl('OTEL_EXPORTER_OTLP_ENDPOINT', 'http://localhost:4318'),
        environment.hasUrl('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'http://localhost:4318/v1/traces'),
      ].includes(true),
      /** A collector that does not answer must not hold up a stop for longer. */
      lastOnesWithinMs: environment.milliseconds('LAST_SPANS_WITHIN', '1s'),
    },
    priceTick: {
      slowEvery: environment.wholeNumber('PRICE_TICK_SLOW_EVERY', 5),
      slowForMs: environment.milliseconds('PRICE_TICK_SLOW_FOR', '800ms'),
    },
    priceImport: {
      takesMs: environment.milliseconds('PRICE_IMPORT_TAKES', '2s'),
    },
    dailyReport: {
      takesMs: environment.milliseconds('DAILY_REPORT_TAKES', '2s'),
      computesMs: environment.milliseconds('DAILY_REPORT_COMPUTES', '0ms'),
    },
  };
  environment.check();
  return config;
});
