import { describe, it } from '@jest/globals';
import { describeLockStore } from '../../libs/singleton-job/src/testing/lock-store-contract/describe-lock-store.js';
import { inMemoryFixture } from '../support/in-memory-fixture.js';

describeLockStore({ describe, it }, { name: 'the in-memory lock store', makeFixture: () => inMemoryFixture() });
