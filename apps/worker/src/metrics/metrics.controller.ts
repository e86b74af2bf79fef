import { Controller, Get, Req, Res } from '@nestjs/common';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { type IncomingMessage, type ServerResponse } from 'node:http';

@Controller('metrics')
export class MetricsController {
  constructor(private readonly exporter: PrometheusExporter) {}

  /** Collects and writes the answer itself. */
  @Get()
  scrape(@Req() request: IncomingMessage, @Res() response: ServerResponse): void {
    this.exporter.getMetricsRequestHandler(request, response);
  }
}
