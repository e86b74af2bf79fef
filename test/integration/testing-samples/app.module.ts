import { Module } from '@nestjs/common';
import { SingletonJobModule } from 'nestjs-singleton-job';
import { FakeTable } from './fakes.js';
import { Prices } from './prices.js';

/** Stands in for the application of the reader. */
@Module({
  imports: [SingletonJobModule.forRoot({ projectName: 'myapp', connection: 'redis://127.0.0.1:1' })],
  providers: [
    Prices,
    { provide: 'price feed', useValue: { pull: async () => 101.5 } },
    { provide: 'price table', useClass: FakeTable },
  ],
})
export class AppModule {}
