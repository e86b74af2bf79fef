export { failureInWords } from './failure-in-words.js';
export { playInShards } from './shards.js';
