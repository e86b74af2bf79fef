import { Controller, Get } from '@nestjs/common';
import { HealthCheck, type HealthCheckResult, HealthCheckService } from '@nestjs/terminus';
import { SingletonJobHealthIndicator } from 'nestjs-singleton-job/terminus';

/** 200 or 503. README.md says which to ask for what. */
@Controller('health')
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly jobs: SingletonJobHealthIndicator,
  ) {}

  /** Whether this replica can do its part. */
  @Get()
  @HealthCheck()
  ready(): Promise<HealthCheckResult> {
    return this.health.check([() => this.jobs.isHealthy('jobs')]);
  }

  /** Whether the process is worth keeping. It says nothing about Redis: who cannot reach it has to wait, not to be replaced. */
  @Get('live')
  @HealthCheck()
  live(): Promise<HealthCheckResult> {
    return this.health.check([() => this.jobs.isAlive('jobs')]);
  }
}
