module mycache

go 1.21
