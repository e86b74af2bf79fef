export * from 'vitest';
export { vi as jest } from 'vitest';
