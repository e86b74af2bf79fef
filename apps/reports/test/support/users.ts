/** For tests that import the application into their own process: its settings require users. */
process.env['USERS'] = JSON.stringify([{ name: 'ada', token: 'ada-token-0123456789' }]);
