import { describe, it } from '@jest/globals';
import { describeLockStore } from '../../libs/singleton-job/src/testing/lock-store-contract/describe-lock-store.js';
import { inMemoryWorld } from '../support/in-memory-world.js';

describeLockStore({ describe, it }, { name: 'the in-memory lock store', makeWorld: () => inMemoryWorld() });
