// webpack.config.mjs
export default {
  mode: 'production',
  target: 'node',
  entry: './dist/main.js',
  output: { path: `${import.meta.dirname}/bundle`, filename: 'main.cjs' },
  optimization: { minimize: false },
  externalsType: 'commonjs',
  externals:
    /^(ioredis|pg|mysql2|class-transformer|class-validator|@nestjs\/(microservices|platform-express|websockets))(\/|$)/,
};
