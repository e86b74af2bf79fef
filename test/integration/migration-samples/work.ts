/** What the jobs of the samples do. A test decides how long it takes. */
export class Work {
  readonly notes: string[] = [];

  constructor(readonly take: (ms: number) => Promise<void> = () => Promise.resolve()) {}

  note(what: string): void {
    this.notes.push(what);
  }
}
