import {
  CompilerState,
  Extractor,
  ExtractorConfig,
  ExtractorLogLevel,
  type ExtractorMessage,
} from '@microsoft/api-extractor';
import { mkdir } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { node } from './workspace/command.js';
import { entryPoints } from './workspace/entry-points.js';
import { LIBRARY, ROOT } from './workspace/paths.js';

/**
 * `npm run api` writes a report of each entry point into `libs/singleton-job/api/`: its public names with their
 * signatures. With `-- --check` it changes nothing and ends with 1 if a report is out of date. Both end with 1 if a
 * public name has no docstring.
 */
const isCheck = process.argv.includes('--check');

const REPORTS = join(LIBRARY, 'api');
const WORK = join(ROOT, '.cache/api');
const TYPES = join(WORK, 'types');

const project = join(LIBRARY, 'tsconfig.lib.json');
await node('typescript/bin/tsc', ['-p', project, '--emitDeclarationOnly', '--outDir', TYPES]);
await mkdir(REPORTS, { recursive: true });
// the other one is a program
const configs = (await entryPoints()).filter((entry) => entry !== 'heartbeat-thread/index').map(configOf);
// one compilation for all of them
const compilerState = CompilerState.create(configOf('index'), {
  additionalEntryPoints: configs.map(({ mainEntryPointFilePath }) => mainEntryPointFilePath),
});
for (const config of configs) report(config);

function configOf(entry: string): ExtractorConfig {
  // as users import it: `config` for `options/config`
  const name = entry === 'index' ? 'main' : basename(entry.replace('/index', ''));
  const ignored = { logLevel: ExtractorLogLevel.None };
  return ExtractorConfig.prepare({
    configObjectFullPath: undefined,
    packageJsonFullPath: join(LIBRARY, 'package.json'),
    configObject: {
      projectFolder: LIBRARY,
      mainEntryPointFilePath: join(TYPES, `${entry}.d.ts`),
      compiler: { tsconfigFilePath: project },
      newlineKind: 'lf',
      apiReport: { enabled: true, reportFileName: name, reportFolder: REPORTS, reportTempFolder: WORK },
      // TypeDoc reads the docstrings: the step `docs` of `npm run verify` fails on a wrong one, and on a type that
      // should be exported
      messages: {
        compilerMessageReporting: { default: { logLevel: ExtractorLogLevel.Error } },
        tsdocMessageReporting: { default: ignored },
        extractorMessageReporting: { default: ignored, 'ae-undocumented': { logLevel: ExtractorLogLevel.Error } },
      },
    },
  });
}

function report(config: ExtractorConfig): void {
  const options = { compilerState, localBuild: !isCheck, messageCallback: show };
  const { apiReportChanged, errorCount } = Extractor.invoke(config, options);
  if (errorCount > 0 || (isCheck && apiReportChanged)) process.exitCode = 1;
  if (apiReportChanged) {
    const file = relative(ROOT, join(REPORTS, config.reportConfigs[0]?.fileName ?? ''));
    console.log(isCheck ? `${file} is out of date: run \`npm run api\` and review what changed` : `wrote ${file}`);
  }
}

function show(message: ExtractorMessage): void {
  message.handled = true;
  // it has the docstrings of an interface that it implements, where API Extractor does not look
  const isInherited = message.sourceFilePath?.endsWith('manual-clock.d.ts') === true;
  if (message.messageId === 'ae-undocumented' && isInherited) message.logLevel = ExtractorLogLevel.None;
  if (message.logLevel === ExtractorLogLevel.Error) console.log(message.formatMessageWithLocation(WORK));
}
