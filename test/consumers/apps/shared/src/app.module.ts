import { Module } from '@nestjs/common';
import { SingletonJobModule } from 'nestjs-singleton-job';
import { Ticker } from './ticker.js';

@Module({
  imports: [SingletonJobModule.forRoot({ projectName: 'consumer', store: 'memory' })],
  providers: [Ticker],
})
export class AppModule {}
