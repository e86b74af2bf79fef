import { WorkerModule } from './app.module.js';
import { start } from './start.js';

await start(WorkerModule, 'Worker');
