import { type AddVerbs, brief, single, textArgument, textOption } from '../verb.js';

/** `volley verify start|check` */
export const addVerifyVerbs: AddVerbs = (cli, { terminal, finish }) =>
  cli.command('verify', 'Send a verification code to one number, or check one', (verify) =>
    brief(verify, 'verify <start|check>', terminal)
      .command(
        'start <number>',
        'Send a code by SMS, and show the session that it is checked in',
        (command) =>
          brief(command, 'verify start <number> --job <file>', terminal)
            .positional('number', textArgument('International (+6591234567), or national with --country'))
            .options({
              country: textOption('Two-letter code of the country that a national number belongs to'),
              brand: textOption('Name that replaces {brand} in the text'),
              template: textOption('The SMS, with {code} and optionally {brand} (default: the text of the service)'),
              source: textOption('Sender id'),
              ...single,
            })
            .example('$0 verify start +6591234567 --brand ACME --job jobs/number-check.yaml', ''),
        ({ number, country, brand, template, source, job, json }) =>
          finish(
            import('../../commands/verification.js').then(({ startVerification }) =>
              startVerification({ number, country, brand, template, source, job, json }, terminal),
            ),
          ),
      )
      .command(
        'check <session> [code]',
        'Check a code: exit code 0 if it is right, else 1; without a code only shows the status of the session',
        (command) =>
          brief(command, 'verify check <session> [code] --job <file>', terminal)
            .positional('session', textArgument('Id of the session, as start shows it'))
            .positional('code', {
              describe:
                'The code that the person entered. Checked only while the session waits; a wrong one uses up a try',
              type: 'string',
            })
            .options(single)
            .example('$0 verify check 0b61d24f-…-6b1d 4711 --job jobs/number-check.yaml', ''),
        ({ session, code, job, json }) =>
          finish(
            import('../../commands/verification.js').then(({ checkVerification }) =>
              checkVerification({ session, code, job, json }, terminal),
            ),
          ),
      )
      .example('$0 verify start +6591234567 --job jobs/number-check.yaml', '')
      .example('$0 verify check SESSION 4711 --job jobs/number-check.yaml', '')
      .demandCommand(1, 'Name what to do: start or check.'),
  );
