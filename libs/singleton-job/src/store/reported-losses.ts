/** What was reported since a connection worked. An outage is reported when it begins, and again when its cause shows only later. */
export class ReportedLosses {
  readonly #reported = new Set<string>();

  /** Whether to report a failure. `client` is undefined if none could be created. */
  isNews(client: object | undefined, isMisconfiguration: boolean): boolean {
    const cause = isMisconfiguration ? 'misconfiguration' : client === undefined ? 'no client' : undefined;
    const isNews = this.#reported.size === 0 || (cause !== undefined && !this.#reported.has(cause));
    this.#reported.add(cause ?? 'loss');
    return isNews;
  }

  /** The connection works. */
  clear(): void {
    this.#reported.clear();
  }
}
