import { Controller, Get, Header } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The build copies it beside the compiled file. */
const PAGE = readFileSync(join(import.meta.dirname, 'index.html'), 'utf8');

const sourceOf = (tag: 'script' | 'style'): string => {
  const content = new RegExp(`<${tag}[^>]*>([^]*)</${tag}>`).exec(PAGE)?.[1] ?? '';
  return `${tag}-src 'sha256-${createHash('sha256').update(content).digest('base64')}'`;
};
const POLICY = `default-src 'none'; connect-src 'self'; frame-ancestors 'none'; ${sourceOf('script')}; ${sourceOf('style')}`;

@Controller()
export class PageController {
  @Get()
  @Header('Content-Type', 'text/html; charset=utf-8')
  @Header('Cache-Control', 'no-cache')
  @Header('Content-Security-Policy', POLICY)
  page(): string {
    return PAGE;
  }
}
