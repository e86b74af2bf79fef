// app.module.ts
import { Module } from '@nestjs/common';
import { SingletonJobModule } from 'nestjs-singleton-job';
import { FakeTable } from './fakes.js';
import { Prices } from './prices.js';

@Module({
  imports: [SingletonJobModule.forRoot({ projectName: 'shop', connection: 'redis://localhost:6379' })],
  providers: [
    Prices,
    { provide: 'price feed', useValue: { pull: async () => 101.5 } },
    { provide: 'price table', useClass: FakeTable },
  ],
})
export class AppModule {}
