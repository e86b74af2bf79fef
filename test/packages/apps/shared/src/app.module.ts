import { Module } from '@nestjs/common';
import { SingletonJobModule } from 'nestjs-singleton-job';
import { Ticker } from './ticker.js';

/** On the server that the test gives it. */
@Module({
  imports: [SingletonJobModule.forRoot({ projectName: 'consumer', connection: process.env['STORE_URL'] ?? '' })],
  providers: [Ticker],
})
export class AppModule {}
