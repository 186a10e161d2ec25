module example.org/bellwether

go 1.19
