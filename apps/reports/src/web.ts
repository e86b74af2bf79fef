import { WebModule } from './app.module.js';
import { start } from './start.js';

await start(WebModule, 'Web');
