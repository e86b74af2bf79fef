import { Controller, Get } from '@nestjs/common';
import { HealthCheck, type HealthCheckResult, HealthCheckService } from '@nestjs/terminus';
import { SingletonJobHealthIndicator } from 'nestjs-singleton-job/terminus';

/** 200 or 503. README.md says which probe uses which path. */
@Controller('health')
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly jobs: SingletonJobHealthIndicator,
  ) {}

  /** Whether this replica can do its part. */
  @Get('ready')
  @HealthCheck()
  ready(): Promise<HealthCheckResult> {
    return this.health.check([() => this.jobs.isHealthy('jobs')]);
  }

  /** Whether the process needs no restart. An outage of Redis does not count: a new process would not help. */
  @Get('live')
  @HealthCheck()
  live(): Promise<HealthCheckResult> {
    return this.health.check([() => this.jobs.isAlive('jobs')]);
  }
}
